import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { expect, test } from 'vitest';

const recipes = readdirSync('examples/recipes').map((file) => file.replace(/\.ts$/, ''));

test.each(recipes)('the page of %s contains the tested code', (name) => {
  const code = readFileSync(`examples/recipes/${name}.ts`, 'utf8');
  expect(readFileSync(`docs/recipes/${name}.md`, 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
});

test.each(recipes)('the page of %s names the packages that its code imports', (name) => {
  const code = readFileSync(`examples/recipes/${name}.ts`, 'utf8');
  const imported = Array.from(code.matchAll(/ from '([^'/]+)/g), ([, from = '']) => from);
  const packages = new Set(imported.filter((from) => !isBuiltin(from)));
  const page = readFileSync(`docs/recipes/${name}.md`, 'utf8');
  const [install = ''] = /\bInstall `.*?\.(?= |$)/m.exec(page) ?? [];
  const named = Array.from(install.matchAll(/`([^`]+)`/g), ([, one = '']) => one);
  expect(named.sort()).toEqual([...packages].sort());
});

test('each page has a recipe, and each recipe has a test', () => {
  const pages = readdirSync('docs/recipes').map((file) => file.replace(/\.md$/, ''));
  expect(pages.sort()).toEqual([...recipes].sort());
  const tests = ['test', 'test/full']
    .flatMap((tier) => readdirSync(`${tier}/examples/recipes`))
    .map((file) => file.replace(/\.test\.ts$/, ''));
  expect(tests).toEqual(expect.arrayContaining(recipes));
});
