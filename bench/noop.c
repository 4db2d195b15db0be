/* The least that a process costs: nothing is done. */
int main(void) { return 0; }
