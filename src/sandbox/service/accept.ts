/** Whether a client takes JSON: by its `Accept`, or because it asks for nothing else. */
export function takesJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return !isRefused && /^(\*\/\*|application\/(\*|json))$/.test(type);
  });
}
