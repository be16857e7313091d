/**
 * Puts each text between its markers, `<!-- name -->` and `<!-- /name -->`, so that the pages always state what
 * was measured.
 */
export function fill(pages, texts) {
  const unused = new Set(Object.keys(texts));
  const filled = pages.map((page) =>
    page.replace(/<!-- ([\w-]+) -->[\s\S]*?<!-- \/\1 -->/g, (_whole, name) => {
      if (texts[name] === undefined) throw new Error(`Nothing is made for the marker ${name}.`);
      unused.delete(name);
      return `<!-- ${name} -->\n${texts[name]}\n<!-- /${name} -->`;
    }),
  );
  if (unused.size > 0) throw new Error(`No page has markers for ${[...unused].join(', ')}.`);
  return filled;
}
