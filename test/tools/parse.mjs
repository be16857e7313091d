// Whether a parser takes the OpenAPI document in a file, and what it warns of.
import { readFileSync } from 'node:fs';
import { parse, validate } from '@readme/openapi-parser';

const document = JSON.parse(readFileSync(process.argv[2], 'utf8'));
process.stdout.write(JSON.stringify(await validate(await parse(document))));
