import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** A sentence and its place. A heading is no sentence: it may begin with "What", as a question does. */
/** @typedef {{ file: string, line: number, kind: 'docs' | 'comments' | 'messages', text: string }} Sentence */

/** @returns {Sentence[]} */
export function sentencesOf(file) {
  const text = readFileSync(file, 'utf8');
  return file.endsWith('.md')
    ? ofPage(file, text)
    : [...ofComments(file, text), ...ofMessages(file, text)];
}

const CODE = /`[^`\n]*`|\{@link [^}]*\}|"[^"\n]*"|https?:\S+/g;

/** @returns {Sentence[]} */
function split(kind, file, line, paragraph) {
  const plain = paragraph
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(CODE, 'X')
    .replace(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return plain
    .split(/(?<=[.!?:])\s+(?=[A-Z])/)
    .filter((text) => /\w \w/.test(text))
    .map((text) => ({ file, line, kind, text }));
}

function ofPage(file, text) {
  const prose = text
    .replace(/```[\s\S]*?```/g, keepLines)
    .replace(/<!-- (\S+) -->[\s\S]*?<!-- \/\1 -->/g, keepLines)
    .replace(/<[^>]*>/g, keepLines);
  const found = [];
  let paragraph = '';
  let begins = 1;
  const end = () => {
    found.push(...split('docs', file, begins, paragraph));
    paragraph = '';
  };
  prose.split('\n').forEach((line, index) => {
    const isOwn = /^\s*([-*+]|\d+\.|#+|>|\|)/.test(line);
    if (line.trim() === '' || isOwn) end();
    if (paragraph === '') begins = index + 1;
    if (/^#+ /.test(line)) return;
    const cells = line.split('|').map((cell) => cell.replace(/^\s*([-*+]|\d+\.|#+|>)\s*/, ''));
    if (cells.length > 1)
      for (const cell of cells) found.push(...split('docs', file, index + 1, cell));
    else paragraph += `${cells[0]} `;
  });
  end();
  return found;
}

const keepLines = (text) => text.replace(/[^\n]+/g, '');

function ofComments(file, text) {
  const found = [];
  for (const { pos, end } of commentsIn(file, text)) {
    const line = text.slice(0, pos).split('\n').length;
    const comment = text
      .slice(pos, end)
      .replace(/^\/\*\*?|\*\/$|^\/\/ ?/g, '')
      .replace(/^\s*\* ?/gm, '');
    // An example is code.
    const prose = comment
      .replace(/@example[\s\S]*?(?=\n@\w|$)/g, '')
      .replace(/```[\s\S]*?```/g, '');
    for (const part of prose.split(/\n\s*\n|\n(?=\s*(?:-|@\w))/)) {
      found.push(
        ...split('comments', file, line, part.replace(/^\s*(?:-|@\w+(?: [\w.]+)?(?: -)?)\s*/, '')),
      );
    }
  }
  return found;
}

/** Lines of `//` that follow each other are one comment. */
function commentsIn(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const ranges = new Map();
  const visit = (node) => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      ranges.set(range.pos, range);
    for (const range of ts.getTrailingCommentRanges(text, node.getEnd()) ?? [])
      ranges.set(range.pos, range);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...ranges.values()].filter(
    ({ pos, end }) => !/biome-ignore|@internal|#region/.test(text.slice(pos, end)),
  );
}

function ofMessages(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    const message = textOf(node);
    if (message === undefined) ts.forEachChild(node, visit);
    else if (/[a-z] [a-z].*[a-z] [a-z]/.test(message) && /^[A-Z`"'$]/.test(message.trim())) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push(...split('messages', file, line + 1, message));
    }
  };
  visit(source);
  return found;
}

/** The text of a literal, or of several that are joined. */
function textOf(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `X${literal.text}`).join('');
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const left = textOf(node.left);
    const right = textOf(node.right);
    return left === undefined && right === undefined ? undefined : (left ?? 'X') + (right ?? 'X');
  }
  return undefined;
}
