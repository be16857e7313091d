require(process.argv[2]);
const others = Object.keys(require.cache).filter((file) => file !== __filename);
// A package in a package's own node_modules counts, too: the last folder is the one that tells.
const packages = others.map((file) => {
  const [, name] = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file);
  return name.replace('\\', '/');
});
const unique = new Set(packages.filter((name) => name !== 'storefront-webhooks'));
console.log(JSON.stringify([...unique].sort()));
