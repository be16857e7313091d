const found = [];
for (const specifier of process.argv.slice(2))
  found.push(Object.keys(await import(specifier)).sort());
console.log(JSON.stringify(found));
