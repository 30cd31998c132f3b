"""What a store shows about people's work: who wrote a line first, whose texts are alike, and which changes gained."""
