export default {
  build: { ssr: 'server.js', outDir: 'out', target: 'node20' },
  // Everything in one bundle, the package and its dependencies too.
  ssr: { noExternal: true },
};
