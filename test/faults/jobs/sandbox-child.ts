// The sandbox as a process of its own, remembering every call of a long run. Run by counting-sandbox.ts.
import { startSandbox } from "../../../sandbox/server.ts";

const sandbox = await startSandbox({ keepCalls: 1_000_000 });
// Without its parent it has no purpose.
process.once("disconnect", () => process.exit(0));
const { origin, deepgramUrl, assemblyaiUrl } = sandbox;
process.send?.({ origin, deepgramUrl, assemblyaiUrl });
