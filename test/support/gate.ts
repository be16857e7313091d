/** A promise that can be resolved from outside. */
export function gate<Value = void>() {
  let open: (value: Value) => void = () => {};
  const opened = new Promise<Value>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
