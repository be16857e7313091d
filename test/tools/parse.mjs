// Prints whether a parser accepts the OpenAPI document in a file, and its warnings.
import { readFileSync } from 'node:fs';
import { parse, validate } from '@readme/openapi-parser';

const document = JSON.parse(readFileSync(process.argv[2], 'utf8'));
process.stdout.write(JSON.stringify(await validate(await parse(document))));
