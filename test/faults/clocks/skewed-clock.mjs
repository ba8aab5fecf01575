// Skews the wall clock of a process by `?ms=…` (loaded with `node --import`), as on a machine with a wrong clock. Monotonic time is unaffected.
const skewMs = Number(new URL(import.meta.url).searchParams.get("ms"));
const RealDate = Date;
const realNow = Date.now;
const now = () => realNow() + skewMs;
RealDate.now = now;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
  apply: () => new RealDate(now()).toString(),
});
