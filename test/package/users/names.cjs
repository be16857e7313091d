const names = {};
for (const specifier of process.argv.slice(2)) {
  names[specifier] = Object.keys(require(specifier)).sort();
}
console.log(JSON.stringify(names));
