/** Returns whether a client accepts JSON: its `Accept` header includes JSON, or is missing or empty. */
export function takesJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return !isRefused && /^(\*\/\*|application\/(\*|json))$/.test(type);
  });
}
