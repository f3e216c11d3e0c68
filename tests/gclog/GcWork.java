import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Garbage on purpose, and what the JVM itself counts of it: a witness for the reader of GC logs.
 *
 * <p>{@code java GcWork.java FILE MB_GARBAGE MB_LIVE [exhaust]} makes short-lived objects, keeps a
 * live set that is replaced little by little, allocates arrays that no region holds, asks for a
 * collection twice, and writes to FILE, as JSON: totals of each GarbageCollectorMXBean, and of each
 * collection what flight recorder says (cause, number, sum and longest of its pauses in ns, heap
 * before and after in bytes). With {@code exhaust} it fills the heap at last until OutOfMemoryError.
 */
public final class GcWork {
  private static volatile Object sink;

  public static void main(String[] words) throws Exception {
    Path file = Path.of(words[0]);
    long garbage = Long.parseLong(words[1]) << 20;
    long live = Long.parseLong(words[2]) << 20;
    Path recorded = Files.createTempFile("gcwork", ".jfr");
    int errors = 0;
    try (Recording recording = new Recording()) {
      for (String name : List.of("GarbageCollection", "GCHeapSummary", "GCPhasePause",
          "ZAllocationStall", "EvacuationFailed")) {
        recording.enable("jdk." + name).withoutThreshold().withoutStackTrace();
      }
      recording.start();
      long beganNs = System.nanoTime(); // the clock of a log's timenanos
      work(garbage, live);
      if (words.length > 3) {
        errors = exhaust();
      }
      Thread.sleep(300); // a concurrent cycle ends
      Map<String, long[]> beans = new TreeMap<>();
      for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
        beans.put(bean.getName(), new long[] {bean.getCollectionCount(), bean.getCollectionTime()});
      }
      long readNs = System.nanoTime();
      recording.stop();
      recording.dump(recorded);
      try (PrintStream out = new PrintStream(file.toFile())) {
        write(out, beans, beganNs, readNs, recorded, errors);
      }
    } finally {
      Files.delete(recorded);
    }
  }

  private static void work(long garbage, long live) {
    ArrayDeque<byte[]> kept = new ArrayDeque<>();
    Random random = new Random(1);
    long held = 0;
    for (long made = 0, turn = 0; made < garbage; turn++) {
      int size = turn % 400 == 399 ? 900_000 : 64 + random.nextInt(8_000);
      byte[] block = new byte[size];
      sink = block;
      made += size;
      if (turn % 4 == 0 || size > 100_000) {
        kept.add(block);
        held += size;
      }
      while (held > live) {
        held -= kept.remove().length;
      }
      if (turn == 3_000 || turn == 6_000) {
        System.gc();
      }
    }
  }

  private static int exhaust() {
    List<byte[]> all = new ArrayList<>();
    try {
      while (true) {
        all.add(new byte[700_000]);
      }
    } catch (OutOfMemoryError error) {
      all.clear();
      return 1;
    }
  }

  private static void write(
      PrintStream out,
      Map<String, long[]> beans,
      long beganNs,
      long readNs,
      Path recorded,
      int errors)
      throws Exception {
    Map<Integer, Map<String, Object>> collections = new TreeMap<>();
    int stalls = 0;
    for (RecordedEvent event : RecordingFile.readAllEvents(recorded)) {
      String name = event.getEventType().getName();
      if (name.equals("jdk.ZAllocationStall")) {
        stalls++;
        continue;
      }
      if (!event.hasField("gcId")) {
        continue;
      }
      Map<String, Object> row =
          collections.computeIfAbsent(event.getInt("gcId"), id -> new TreeMap<>());
      switch (name) {
        case "jdk.GarbageCollection" -> {
          row.put("name", quoted(event.getString("name")));
          row.put("cause", quoted(event.getString("cause")));
          row.put("longest_pause_ns", event.getDuration("longestPause").toNanos());
        }
        case "jdk.GCHeapSummary" -> {
          String when = event.getString("when").startsWith("Before") ? "before" : "after";
          row.put(when + "_bytes", event.getLong("heapUsed"));
        }
        case "jdk.GCPhasePause" -> {
          row.merge("pauses", 1, (a, b) -> (Integer) a + (Integer) b);
          row.merge("pauses_ns", event.getDuration().toNanos(), (a, b) -> (Long) a + (Long) b);
        }
        default -> row.put("failed", 1);
      }
    }
    out.println("{\"java\": " + quoted(System.getProperty("java.version")) + ",");
    out.println(" \"began_ns\": " + beganNs + ",");
    out.println(" \"read_ns\": " + readNs + ", \"out_of_memory\": " + errors + ", \"stalls\": " + stalls + ",");
    List<String> lines = new ArrayList<>();
    beans.forEach((name, n) -> lines.add(
        "  %s: {\"count\": %d, \"ms\": %d}".formatted(quoted(name), n[0], n[1])));
    out.println(" \"beans\": {\n" + String.join(",\n", lines) + "},");
    lines.clear();
    collections.forEach((id, row) -> {
      List<String> parts = new ArrayList<>();
      row.forEach((key, value) -> parts.add("\"" + key + "\": " + value));
      lines.add("  \"" + id + "\": {" + String.join(", ", parts) + "}");
    });
    out.println(" \"collections\": {\n" + String.join(",\n", lines) + "}}");
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\"", "'") + "\"";
  }
}
