/**
 * Puts each text between its markers, `<!-- name -->` and `<!-- /name -->`: so what a page says is never
 * other than what was measured.
 */
export function fill(page, texts) {
  const unused = new Set(Object.keys(texts));
  const filled = page.replace(/<!-- ([\w-]+) -->[\s\S]*?<!-- \/\1 -->/g, (_whole, name) => {
    if (texts[name] === undefined) throw new Error(`Nothing is made for the marker ${name}.`);
    unused.delete(name);
    return `<!-- ${name} -->\n${texts[name]}\n<!-- /${name} -->`;
  });
  if (unused.size > 0) throw new Error(`The page has no markers for ${[...unused].join(', ')}.`);
  return filled;
}
