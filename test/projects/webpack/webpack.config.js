module.exports = {
  mode: 'production',
  target: 'node20',
  entry: './server.mjs',
  output: { path: `${__dirname}/out`, filename: 'server.js' },
};
