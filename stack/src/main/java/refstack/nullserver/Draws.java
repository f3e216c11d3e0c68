package refstack.nullserver;

/**
 * A sequence of independent draws from the open interval (0, 1) whose n-th is had without the ones
 * before it: SplitMix64 of {@code seed} (Steele, Lea, Flood, OOPSLA 2014), the upper 53 bits.
 */
record Draws(long seed) {

    private static final long GAMMA = 0x9e3779b97f4a7c15L;

    double draw(long number) {
        long z = seed + (number + 1) * GAMMA;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        z ^= z >>> 31;
        return ((z >>> 11) + 0.5) * 0x1p-53;
    }
}
