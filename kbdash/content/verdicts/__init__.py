"""What KernelGuard says about texts: asking it, keeping its verdicts, and the table of them."""
