const names = {};
for (const specifier of process.argv.slice(2)) {
  names[specifier] = Object.keys(await import(specifier)).sort();
}
console.log(JSON.stringify(names));
