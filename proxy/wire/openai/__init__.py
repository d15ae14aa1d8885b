"""What the APIs of OpenAI's family share on the wire: JSON as it is met, chunks, who answers."""
