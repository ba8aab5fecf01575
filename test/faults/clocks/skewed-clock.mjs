// Loaded before a process's own code (`node --import`): its wall clock is off by `?ms=…`, as on a machine that nobody sets.
// Measuring durations goes on as always.
const skewMs = Number(new URL(import.meta.url).searchParams.get("ms"));
const RealDate = Date;
const realNow = Date.now;
const now = () => realNow() + skewMs;
RealDate.now = now;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
  apply: () => new RealDate(now()).toString(),
});
