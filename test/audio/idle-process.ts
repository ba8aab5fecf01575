// Run by measurer.test.ts: measures once, never closes, and has to end by itself.
import { createMeasurer } from "../../src/audio/measure.ts";
import { wav } from "./build-audio.ts";

const measurement = await createMeasurer().measure({ kind: "bytes", bytes: wav() });
process.stdout.write(measurement.ok ? String(measurement.durationSeconds) : measurement.reason);
