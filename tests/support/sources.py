"""A source of each language in which closed statements are known, full of what could go on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_SCRIPT = """
import { a, b } from "./lib"
import * as fs from 'fs';

const one = 1, two = { a: 1, b: [2, 3], c() { return eval("x") } }
let text = `line ${one + two.a}
second ${`inner ${b}`}`
foo()
  .bar()
  .baz(x => x + 1);

if (one) {
  eval(first)
} else if (two) run();
else {
  stop()
}

label: for (const item of list) {
  if (!item) continue label
  try { risky(item) } catch (e) { log(e) } finally { done() }
}

do work(); while (more)

class Store extends Base {
  static count = 0
  #secret = /re[/]gex/g;
  constructor(x) {
    super(x)
    this.x = x
  }
  async *items() {
    yield* this.all
    await eval(second)
    return a / b / c
  }
  get size() { return this.x }
}

describe("store", () => {
  it("keeps", async () => {
    const got = await (async function () {
      eval(third)
      return 1
    })()
    expect(got).toBe(1)
  })
})

var f = function () { return 1 }
f
(one)
a = b
++c
export default class {}
export { one as first }
"""

_TYPED = """
type Pair<T> = { left: T; right: T }
interface Shape extends Base {
  area(): number
  readonly name?: string
}
enum Colour { Red, Green = 2 }
declare module "x" {
  export function y(z: string): void
}
abstract class Model<T extends object> implements Shape {
  private readonly items: Map<string, T[]> = new Map<string, T[]>()
  area(): number {
    const n = <any>this
    eval(first as unknown as string)
    return n! satisfies number
  }
}
const pick = <K, V>(m: Map<K, V>, k: K): V | undefined => {
  eval(k)
  return m.get(k)
}
namespace Inner { export const q = 1 }
let a = b < c, d > (e)
"""

_PYTHON = '''
from __future__ import annotations
import os, sys
from a.b import (c,
    d as e)

"""A text
that goes on."""

if os.name == "nt":
    eval(first)
elif x:
    pass
else:
    stop()

for i in range(3):
    if i: continue
    print(f"{i!r:>{width}} {eval(second)}")
else:
    done()

try:
    risky()
except (A, B) as error:
    raise C from error
except:
    raise
finally:
    close()

with open(p) as f, g(): pass

@decorated
class Thing(Base, metaclass=M):
    """Doc."""

    x: int = 1

    @property
    def y(self) -> int:
        def inner():
            eval(third)
            return lambda a, *b: a

        return inner()[0:1, ...]

    async def z(self, *, a=1):
        async with self as s:
            await s
        x = [eval(v) for v in s if v]
        match x:
            case [a, *_]:
                eval(a)
            case _:
                pass

a = b = c \\
    + d
print("x") ; del a
'''

_GO = """
package main

import (
	"fmt"
	"os"
)

const (
	A = iota
	B
)

var x, y = 1, "two"

type Pair[T any] struct {
	left, right T
}

type Shape interface {
	Area() float64
}

func (p *Pair[T]) Swap() (T, error) {
	defer func() { recover() }()
	if err := eval(p); err != nil {
		return p.left, fmt.Errorf("x: %w", err)
	} else if p == nil {
		panic("y")
	} else {
		eval(first)
	}
	for i := 0; i < 3; i++ {
		x += i
		eval(second)
	}
	switch v := any(p).(type) {
	case int:
		eval(v)
	default:
		os.Exit(1)
	}
	select {
	case c <- 1:
		eval(third)
	}
	go func() {
		y := []int{1, 2}
		eval(y[0])
	}()
outer:
	for range p.items {
		break outer
	}
	return p.right, nil
}

func main() {
	a := map[string]Pair[int]{"x": {1, 2}}
	eval(a)
	b := `raw
text`
	eval(b)
}
"""

_RUST = """
#![allow(dead_code)]
use std::{fmt, io::{self, Read}};

#[derive(Debug)]
pub struct Point<'a, T: Copy> { x: &'a T, y: T }

enum Shape { Circle(f64), Square { side: f64 } }

impl<'a, T: Copy> Point<'a, T> {
    pub fn new(x: &'a T) -> Self {
        let y = if true { eval(first); *x } else { *x };
        eval(second);
        Point { x, y }
    }
}

fn main() -> Result<(), io::Error> {
    let mut v: Vec<Option<i32>> = vec![Some(1), None];
    for (i, x) in v.iter().enumerate() {
        match x {
            Some(n) if *n > 0 => { eval(n); }
            _ => eval(third),
        }
    }
    let f = |a: i32| a + 1;
    'outer: loop {
        while let Some(t) = v.pop() {
            eval(t);
            break 'outer;
        }
    }
    let s = r#"raw " text"#;
    unsafe { eval(s) }
    println!("{} {:?}", s, v);
    eval(f(1))?;
    Ok(())
}

macro_rules! m { ($x:expr) => { $x + 1 }; }
const N: usize = 3;
mod tests { use super::*; }
"""

_JAVA = """
package a.b;

import java.util.*;
import static java.lang.Math.max;

@Deprecated
public class Store<T extends Comparable<T>> extends Base implements Shape {
    private final Map<String, List<T>> items = new HashMap<>();
    static { eval(first); }

    public Store(int size) throws IOException {
        super(size);
        this.size = size;
    }

    @Override
    public int area(T... all) {
        for (T each : all) {
            if (each == null) continue;
            else eval(each);
        }
        for (int i = 0, j = 1; i < 3; i++) { eval(i); }
        try (Reader r = open()) {
            eval(r);
        } catch (A | B e) {
            throw new C(e);
        } finally {
            close();
        }
        int x = (int) a < b ? c : d;
        switch (x) {
            case 1: eval(second); break;
            default: return 2;
        }
        Runnable f = () -> { eval(third); };
        do { x--; } while (x > 0);
        return x;
    }

    enum Colour { RED, GREEN; int n() { return 1; } }
    record Point(int x, int y) {}
}

interface Shape { default int area() { return 1; } }
"""

_C = """
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#ifdef X
static int y;
#else
extern int z;
#endif

typedef struct point { int x, y; } point;
static const char *names[] = { "a", "b" };
int (*handler)(int, char **);

static int run(point *p, int n)
{
    int i, x = (n) * p->x;
    a * b;
    for (i = 0; i < n; i++) {
        if (p[i].x)
            eval(first);
        else if (n > 3)
            goto out;
        else {
            eval(second);
        }
    }
    switch (x) {
    case 1:
        eval(x);
        break;
    default:
        return 2;
    }
    do x--; while (x);
out:
    eval(third);
    return sizeof(point) + x;
}

int main(void) { return run(0, 1); }
"""

_CPP = (
    _C
    + """
#include <vector>
using namespace std;
namespace inner { template <typename T> struct Box { T value; }; }
template <class T, int N = 3>
class Store : public Base<T> {
public:
    explicit Store(int n) : Base<T>(n), size{n} {}
    ~Store() override = default;
    auto get(const T &t) const -> decltype(t) {
        try { eval(t); } catch (const E &e) { throw; }
        for (auto &x : items) { eval(x); }
        auto f = [this, &t](int a) mutable { eval(a); return a < 1; };
        Store<vector<int>> s(1);
        return static_cast<T>(f(1));
    }
private:
    int size = 0;
};
const char *raw = R"(text ")";
"""
)

_CSHARP = """
using System;
using Alias = System.Collections.Generic.List<int>;

namespace A.B
{
    [Serializable]
    public abstract partial class Store<T> : Base, IShape where T : class, new()
    {
        private readonly Dictionary<string, List<T>> items = new();
        public int Size { get; private set; } = 1;
        public string Name => $"x {Size:N0}";

        public Store(int n) : base(n)
        {
            Size = n;
            eval(first);
        }

        public async Task<int> Run(params T[] all)
        {
            foreach (var each in all)
            {
                if (each is null) continue;
                else eval(each);
            }
            using (var r = Open()) { eval(r); }
            try { eval(second); }
            catch (E e) when (e.Code > 1) { throw; }
            finally { Close(); }
            var x = all.Length < 2 ? 1 : (int)2;
            switch (x)
            {
                case 1: eval(x); break;
                default: return 2;
            }
            Func<int, int> f = a => { eval(third); return a; };
            lock (this) { x++; }
            await Task.Delay(1);
            return f(x);
        }
    }
    enum Colour { Red, Green }
    record Point(int X, int Y);
}
"""

_PHP = """<?php
namespace A\\B;

use C\\D as E;

const X = 1;
$a = ['x' => 1, 'y' => [2, 3]];

if ($a) {
    run($first);
} elseif ($b) {
    stop();
} else {
    done();
}

foreach ($list as $key => $value) {
    run($value);
    if (!$key) continue;
}

abstract class Store extends Base implements Shape
{
    use Counted;
    private ?int $size = 0;
    const Y = 2;

    public function __construct(private string $name)
    {
        parent::__construct();
        $this->size = 1;
    }

    public static function get(int ...$all): ?array
    {
        try {
            run($second);
        } catch (A | B $e) {
            throw $e;
        } finally {
            close();
        }
        $f = fn($x) => $x + 1;
        $g = function () use ($f) {
            run($third);
            return "text {$f(1)} $f";
        };
        switch ($all) {
            case 1:
                run($g);
                break;
            default:
                return null;
        }
        while (true) { break; }
        return match (true) { default => $all };
    }
}

function f() { return 1; }
echo "x", 'y';
"""

_JSX = """
export function View({ items }: Props) {
  const [n, setN] = useState<number>(0)
  eval(n)
  return (
    <Page title="x" {...props}>
      {items.map(i => <Item key={i} onPress={() => { eval(i); setN(n + 1) }} />)}
      <>text &amp; more</>
    </Page>
  )
}
"""

SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "c": _C,
        "cpp": _CPP,
        "csharp": _CSHARP,
        "go": _GO,
        "java": _JAVA,
        "javascript": _SCRIPT,
        "php": _PHP,
        "python": _PYTHON,
        "rust": _RUST,
        "tsx": _SCRIPT + _TYPED.replace("<any>this", "this").replace("<K, V>(", "<K, V,>(") + _JSX,
        "typescript": _SCRIPT + _TYPED,
    }
)
"""The beginning of each parses without an error."""


_SCRIPT_LINES = """
a = b
(c)
[d]
`t`
++e
- f
/re/g
/ 2
.g()
?.h
{ a }
{ a: b }
({ a } = b)
[a, b] = c
x = (a, b)
=> {
=> a
async (a)
async
await
yield
let
of
in y
x
x = async (a) => {
x = {
get
static
a ? b :
c,
label:
do x
while (y)
if (a)
else b
}
})
foo(a, {
foo(function () {
return
return a
<b>text</b>
x = <b>
</b>
a < b
c > d
class A {
a;
"use strict"
for (a of b)
import
import(a)
export
var f = function () {
x = `
${a}
`
// c
/* c */
"""
_TYPED_LINES = f"""{_SCRIPT_LINES}
x = y as A<b>
x = y satisfies A<b>
x = new A<b>
x = a<b>(c)
x = a
<b>
<b>c
f = a<b>
f = <T>(x: A<b>) => {{
type T = A<b>
type T = {{
type
export type T = A<b>
let z: A<b>
const q: A<b> = c
declare let x: A<b>
declare
abstract
namespace
module
x!
as z
): A<b> {{
x = y instanceof A<b>
interface A<b>
enum A {{
@a
private x
readonly y: A<b>
(a: b): c
| d
& e
extends f ? g : h
asserts x is y
"""
_PYTHON_LINES = """
a
a = b
print a
print (a)
exec a
match a
match (a):
match a:
case b:
    case b:
        eval(c)
type X = Y
type
async
await x
async def f():
def f(
):
    a
    return
  b
        c
\td
if a:
elif b:
else:
try:
except A:
except* B:
finally:
with a:
for a in b:
while a: b
@a
class A:
class A: pass
lambda:
x = [
]
x = (
)
x = {
}
*a, b
a: int
a; b
;
\\
a \\
- b
.c
(d)
[e]
# c
pass
'''
\"\"\"
f"{a
f"{a}"
not
import a
from a import (
nonlocal x
global y
del z
"""
_GO_LINES = """
a
a b
a := b
a = b
if a {
if a == T {
}
} else {
} else if b {
else {
T{a}
T{
for a := range b {
switch a {
case b:
default:
func f() {
func (a B) c() {
func f(
)
func() {
}()
go f()
defer f()
a.
b
a[b]
a[b, c]
a < b
a[T](c)
type A struct {
type A = B
type A[T any] B
type (
var (
const (
x int
import (
"fmt"
return
return a,
a +
- b
* c
& d
<- e
a <- b
L:
goto L
break L
;
a; b
`
'c'
// c
/* c */
package a
select {
interface {
map[a]b{
"""
_RUST_LINES = """
a
a;
match a {
b => c,
b => { c }
}
if a { b }
if a {
} else {
else { c }
- c
& d
* e
(f)
[g]
..
?
.h()
a < b
a::<b>
T { x }
T {
m!{}
m!()
m!(
m! {
|a| b
|a| {
move
async
unsafe
unsafe {
'a:
'a
loop {
loop { }
while let a = b {
{ }
{
let x = if a { b } else
{ c };
let x =
let Some(a) = b else {
union
default
auto
macro_rules! a {
(x) => { y };
#[x]
#![x]
pub
fn f() {
fn f()
where T: U
-> V {
impl A for B {
impl A
struct A;
struct A(B);
use a::{b
};
as c
return
break 'a
r#"
"#
//! c
/// c
// c
/* c */
const A: B = c;
"""
_JAVA_LINES = """
a;
a = b;
A b;
A<b> c;
a < b > c;
a < b;
(A) b;
(A) -b;
(A) -> b;
a -> {
};
yield x;
yield
record A
record A(B c) {
sealed
var x =
switch (a) {
case b -> c;
case b:
default:
}
} else {
else
if (a)
if (a) {
@A
@A(b
)
A::b
int[] a;
a[b] c;
a[b] = c;
synchronized
synchronized (a) {
static
static {
class A {
class A
extends B
implements C
interface A {
enum A { B, C;
enum A {
void f() {
void f()
throws D
throw e;
try {
try (a) {
catch (A b) {
finally {
do
do {
while (a);
for (;;)
for (A b : c) {
assert a : b
return
return a
new A() {
new int[] {
L:
;
import a.b;
package a;
x +
- y;
? z
: w;
\"\"\"
// c
/* c */
"""
_C_LINES = """
a * b;
T (x);
T x
f(x)
f(x);
MACRO(x)
MACRO
int f(x)
int x;
int f(int x)
int f(int x) {
{
}
};
} else {
else
if (a)
if (a) {
struct A
struct A {
struct A b;
enum A {
b,
typedef
typedef A B;
unsigned
static
extern "C" {
__attribute__((x))
(a)(b);
(a) - b;
(a) * b;
sizeof (a) * b;
a < b > c;
x = {
.a = b,
[0] = c,
case 1:
default:
switch (a) {
do
do {
while (a);
while (a)
for (;;)
for (int i = 0; i < n; i++) {
goto L;
L:
return
return a;
;
#if X
#ifdef X
#else
#elif Y
#endif
#define A \\
#define A(b) c
#include <a.h>
#pragma x
"a"
'b'
\\
a = b,
c ? d
: e;
int a[] = {
int (*f)(
// c
/* c */
"""
_CPP_LINES = f"""{_C_LINES}
A<b> c;
A<b>(c);
A<b>::d e;
a < b, c > (d);
a<b>
template <class T>
template <a < b>
template <>
class A : B {{
class A
public:
A();
~A();
A(): b(c) {{
operator int() {{
auto f = [&](int a) {{
auto f() -> A<b> {{
namespace a {{
using namespace b;
using c = d<e>;
try {{
catch (...) {{
throw
co_await x;
requires C<T>
concept C =
constexpr
if constexpr (a)
for (auto x : y)
new A
delete b;
noexcept
= default;
= 0;
R"(
)"
"""
_CSHARP_LINES = """
a;
a = b;
A b;
A<b> c;
a < b, c > (d);
a < b > c;
a<b>(c);
(A) b;
(A) -b;
(a, b) = c;
(a, b) => c;
x => y
x => {
};
await x;
await
yield return
yield
var x =
where T : U
record A
record A(B c);
from a in b
select c;
#if X
#else
#endif
#region A
get;
set {
{ get; }
=> x;
partial
async
global
using
using (a)
using A = B;
using var a = b;
a?.b;
a ? b : c;
a ? [b] : c;
is A b
is { a: b }
switch (a) {
a switch {
b => c,
case A b when c:
case b:
default:
class A {
class A
: B
void f() {
void f()
static
public
[A]
[A(b
)]
namespace A {
namespace A;
enum A {
if (a)
if (a) {
} else {
else
}
{
try {
catch (A b)
catch {
finally {
do
do {
while (a);
foreach (var a in b)
for (;;)
lock (a)
fixed (a)
unsafe {
checked {
goto case b;
L:
return
return a
new A {
new {
new() {
delegate {
$"{a
@"
"
\"\"\"
;
// c
/* c */
"""
_PHP_LINES = """
$a
$a;
$a = $b;
a();
?> text <?php
?>
<?php
if ($a):
if ($a)
if ($a) {
} elseif ($b) {
} else {
elseif ($b):
else:
else
endif;
}
{
foreach ($a as $b):
foreach ($a as $b) {
endforeach;
while ($a):
endwhile;
switch ($a) {
switch ($a):
case $b:
default:
<<<EOT
EOT;
EOT
fn($x) => $y
function () use ($a) {
};
#[A]
#[A(
)]
# c
static
static $a;
static fn
match
match ($a) {
1 => $b,
$a ?
: $b;
[$a] = $b;
list($a) = $b;
use A;
use A\\{
namespace A;
namespace A {
{$a}
function &f()
function f() {
function f(): A
class A {
class A
extends B
abstract
final
readonly
enum A: int {
trait A {
const A = b;
public $a;
public
private function f() {
goto a;
a:
declare(strict_types=1);
print
echo
return
return $a
new class {
new A
throw
try {
catch (A $b) {
finally {
do
do {
while ($a);
`ls`
"
'
$a->
b()
::c
[d]
(e)
- f
. g
// c
/* c */
"""

LINES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        language: tuple(lines.strip("\n").split("\n"))
        for language, lines in (
            ("c", _C_LINES),
            ("cpp", _CPP_LINES),
            ("csharp", _CSHARP_LINES),
            ("go", _GO_LINES),
            ("java", _JAVA_LINES),
            ("javascript", _SCRIPT_LINES),
            ("php", _PHP_LINES),
            ("python", _PYTHON_LINES),
            ("rust", _RUST_LINES),
            ("tsx", _TYPED_LINES),
            ("typescript", _TYPED_LINES),
        )
    }
)
"""Lines that mean one thing or another by what stands around them."""
