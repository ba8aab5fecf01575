// A child process that measures one step of the table of goals: a step that hangs can be ended, and none finds another's memory or compiled code.
import { childArgument, tellParent } from "../measure/child.ts";
import type { Engine } from "../upstream/contenders.ts";
import type { StepArgument } from "./reading.ts";
import { STEPS } from "./steps.ts";

const ENGINES: readonly Engine[] = ["embedded", "postgres"];

// A normal exit ends all child processes.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.once("disconnect", () => process.exit(1));
const { step, run } = childArgument() as StepArgument;
const result = await STEPS[step]?.measure(run % 2 === 0 ? ENGINES : ENGINES.toReversed());
if (result === undefined) throw new Error(`There is no step ${step}.`);
tellParent(result);
