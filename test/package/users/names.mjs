const names = await import(process.argv[2]);
console.log(JSON.stringify(Object.keys(names).sort()));
