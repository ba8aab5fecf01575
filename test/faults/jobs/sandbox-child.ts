// The sandbox as a separate process that remembers every call of a long run. Run by counting-sandbox.ts.
import { startSandbox } from "../../../sandbox/server.ts";

const sandbox = await startSandbox({ keepCalls: 1_000_000 });
// Exits with its parent.
process.once("disconnect", () => process.exit(0));
const { origin, deepgramUrl, assemblyaiUrl } = sandbox;
process.send?.({ origin, deepgramUrl, assemblyaiUrl });
