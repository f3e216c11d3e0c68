package refstack.nullserver;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * The command line.
 *
 * @param address   where to listen: one of this machine's; the loopback address if not given
 * @param port      its port; 0 = any free one
 * @param bodyBytes bytes of every body
 * @param law       delay of each answer; null = at once
 * @param freeze    when the server stands still
 */
record Options(InetAddress address, int port, int bodyBytes, DelayLaw law, Freeze freeze) {

    private static final int MAX_BODY = 64 * 1024 * 1024;
    private static final double MAX_SECONDS = 3600;

    static Options parse(String[] arguments) {
        InetAddress address = InetAddress.getLoopbackAddress();
        int port = 0;
        int bodyBytes = 1024;
        String law = null;
        int seed = 1;
        double freezeAtS = 0;
        double freezeForS = 0;
        for (int i = 0; i < arguments.length; i += 2) {
            String name = arguments[i];
            String value = i + 1 < arguments.length ? arguments[i + 1] : "";
            switch (name) {
                case "--address" -> address = address(value);
                case "--port" -> port = (int) number(name, value, 65_535, true);
                case "--body-bytes" -> bodyBytes = (int) number(name, value, MAX_BODY, true);
                case "--delay-law" -> law = value;
                case "--delay-seed" -> seed = (int) number(name, value, Integer.MAX_VALUE, true);
                case "--freeze-at-s" -> freezeAtS = number(name, value, MAX_SECONDS, false);
                case "--freeze-for-s" -> freezeForS = number(name, value, MAX_SECONDS, false);
                default -> throw new IllegalArgumentException("unknown " + name);
            }
        }
        if (law == null && freezeForS > 0) {
            law = "constant:0";
        }
        return new Options(address, port, bodyBytes, law == null ? null : DelayLaw.parse(law, seed),
                new Freeze(nanos(freezeAtS), nanos(freezeForS)));
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("--address must be an address, not '" + text + "'");
        }
    }

    private static long nanos(double seconds) {
        return Math.round(1e9 * seconds);
    }

    private static double number(String name, String text, double max, boolean isWhole) {
        try {
            double value = Double.parseDouble(text);
            if (value >= 0 && value <= max && (!isWhole || value == Math.rint(value))) {
                return value;
            }
        } catch (NumberFormatException e) {
            // falls through to the same message
        }
        throw new IllegalArgumentException(name + " must be a " + (isWhole ? "whole " : "")
                + "number from 0 to " + Math.round(max) + ", not '" + text + "'");
    }
}
