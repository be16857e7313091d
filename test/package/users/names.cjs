const found = [];
for (const specifier of process.argv.slice(2)) found.push(Object.keys(require(specifier)).sort());
console.log(JSON.stringify(found));
