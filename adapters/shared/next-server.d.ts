/** The part of Next.js that `toNext` uses. Next before 15.1 has no `after`. */
declare module 'next/server.js' {
  export const after: ((task: Promise<unknown>) => void) | undefined;
}
