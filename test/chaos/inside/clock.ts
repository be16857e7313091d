// Runs before everything else in the bundle: this process has a wrong date.
const offset = Number(process.env.CHAOS_CLOCK_MS ?? 0);
const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...args: [] | [number | string | Date]) {
    if (args.length === 0) super(RealDate.now() + offset);
    // The type lists one argument, but Date takes several.
    else super(...(args as [number]));
  }

  static override now(): number {
    return RealDate.now() + offset;
  }
}

if (offset !== 0) globalThis.Date = ShiftedDate as DateConstructor;

export {};
