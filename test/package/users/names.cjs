const names = require(process.argv[2]);
console.log(JSON.stringify(Object.keys(names).sort()));
