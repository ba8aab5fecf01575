// A process with a loaded model, for a test that kills it: prints the id of the engine's process once it is loaded.
import { createRecognisers } from "../../../src/providers/local/recognisers.ts";
import { RATE, sentence, WORDS, wordsModel } from "../../harness/local-model.ts";

const nothing = (): void => undefined;
const recognisers = createRecognisers({
  installed: async () => [wordsModel],
  isEngineInstalled: () => true,
  threads: 1,
  idleMs: 600_000,
  maxQueueSeconds: 900,
  maxMemoryBytes: null,
  logger: { info: nothing, warn: nothing, error: nothing },
});
const session = await recognisers.open(
  { model: WORDS, audioSeconds: 1 },
  { signal: new AbortController().signal, owner: "a", waits: false },
);
await session.decode({ ...sentence("hello"), sampleRate: RATE }, []);
console.log(recognisers.report()[0]?.pid);
setInterval(nothing, 60_000);
