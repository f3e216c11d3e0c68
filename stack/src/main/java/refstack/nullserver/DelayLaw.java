package refstack.nullserver;

/**
 * How long after it was read a request is answered, by the request's number: the same number has
 * the same delay in every run, so that whoever knows the law can compute every delay.
 */
sealed interface DelayLaw {

    /** The delay of request {@code number} (from 0), in ns. */
    long delayNs(long number);

    /** Every request waits equally long. */
    record Constant(long delayNs) implements DelayLaw {
        @Override
        public long delayNs(long number) {
            return delayNs;
        }
    }

    /** The delay's logarithm is normal: its median is {@code medianNs}, its sd {@code sigma}. */
    record Lognormal(double medianNs, double sigma, Draws draws) implements DelayLaw {
        @Override
        public long delayNs(long number) {
            return Math.round(medianNs * Math.exp(sigma * Normal.quantile(draws.draw(number))));
        }
    }

    /** A share of the requests is slow. */
    record TwoPoint(long fastNs, long slowNs, double slowShare, Draws draws) implements DelayLaw {
        @Override
        public long delayNs(long number) {
            return draws.draw(number) < slowShare ? slowNs : fastNs;
        }
    }

    /**
     * The law of {@code constant:US}, {@code lognormal:MEDIAN_US,SIGMA} or {@code
     * two-point:FAST_US,SLOW_US,SLOW_SHARE}.
     *
     * @throws IllegalArgumentException for anything else, and for values below zero
     */
    static DelayLaw parse(String text, long seed) {
        String[] parts = text.split(":", 2);
        double[] values = parts.length == 2 ? numbers(parts[1], text) : new double[0];
        Draws draws = new Draws(seed);
        return switch (parts[0] + "/" + values.length) {
            case "constant/1" -> new Constant(nanos(values[0]));
            case "lognormal/2" -> new Lognormal(1e3 * values[0], values[1], draws);
            case "two-point/3" -> new TwoPoint(
                    nanos(values[0]), nanos(values[1]), share(values[2], text), draws);
            default -> throw unknown(text);
        };
    }

    private static double[] numbers(String list, String text) {
        String[] words = list.split(",");
        double[] values = new double[words.length];
        for (int i = 0; i < words.length; i++) {
            try {
                values[i] = Double.parseDouble(words[i]);
            } catch (NumberFormatException e) {
                throw unknown(text);
            }
            if (!(values[i] >= 0 && values[i] <= 60e6)) {
                throw unknown(text);
            }
        }
        return values;
    }

    private static double share(double value, String text) {
        if (value > 1) {
            throw unknown(text);
        }
        return value;
    }

    private static long nanos(double micros) {
        return Math.round(1e3 * micros);
    }

    private static IllegalArgumentException unknown(String text) {
        return new IllegalArgumentException("--delay-law must be constant:US, "
                + "lognormal:MEDIAN_US,SIGMA or two-point:FAST_US,SLOW_US,SLOW_SHARE, not '"
                + text + "'");
    }
}
