import { Argument, type Command } from 'commander';
import { shippedFixtures } from 'storefront-webhooks/testing';
import type { Session } from './session.js';

/** Adds `completion`, which prints the script that lets a shell complete commands, flags and fixtures. */
export function addCompletion(program: Command, { printer }: Session): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .summary('print a completion script for a shell')
    .description('Prints a script that lets a shell complete commands, flags and fixtures.')
    .addHelpText(
      'after',
      '\nExample:\n  npx storefront-webhooks completion bash >> ~/.bashrc' +
        '\n  npx storefront-webhooks completion zsh > ~/.zfunc/_storefront-webhooks' +
        '\n  npx storefront-webhooks completion fish > ~/.config/fish/completions/storefront-webhooks.fish',
    )
    .action((shell: keyof typeof SCRIPTS) => printer.write(SCRIPTS[shell](wordsOf(program))));
}

/** The words that can follow each command: its subcommands, all flags, and the fixtures if it takes one. */
type Words = Readonly<Record<string, readonly string[]>>;

function wordsOf(program: Command): Words {
  const entries = program.commands.map((command) => {
    const subcommands = command.commands.map((one) => one.name());
    const flags = [command, ...command.commands].flatMap(({ options }) =>
      options.flatMap(({ long }) => long ?? []),
    );
    const takesFixture = command.registeredArguments[0]?.name() === 'what';
    const words = [...subcommands, ...flags, '--help', ...(takesFixture ? names() : [])];
    return [command.name(), [...new Set(words)]];
  });
  return Object.fromEntries(entries);
}

/** The fixtures, by the short names that `send` takes as well. */
function names(): string[] {
  return shippedFixtures().map((name) => name.replace(/\/default$/, ''));
}

const NAME = 'storefront-webhooks';

const SCRIPTS = {
  bash: (words: Words) => `_storefront_webhooks() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words
  # A colon splits words in bash.
  if type _get_comp_words_by_ref >/dev/null 2>&1; then _get_comp_words_by_ref -n : -c word 2>/dev/null; fi
  if [ "$COMP_CWORD" -eq 1 ]; then words="${Object.keys(words).join(' ')}"; else
    case "\${COMP_WORDS[1]}" in
${cases(words, (name, list) => `      ${name}) words="${list.join(' ')}" ;;`)}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if type __ltrim_colon_completions >/dev/null 2>&1; then __ltrim_colon_completions "$word"; fi
}
complete -o default -F _storefront_webhooks ${NAME}
`,
  zsh: (words: Words) => `#compdef ${NAME}
_storefront_webhooks() {
  if (( CURRENT == 2 )); then compadd -- ${Object.keys(words).join(' ')}; return; fi
  case "$words[2]" in
${cases(words, (name, list) => `    ${name}) compadd -- ${list.join(' ')} ;;`)}
  esac
  _files
}
compdef _storefront_webhooks ${NAME}
`,
  fish: (words: Words) =>
    [
      `complete -c ${NAME} -n __fish_use_subcommand -f -a '${Object.keys(words).join(' ')}'`,
      ...Object.entries(words).map(
        ([name, list]) =>
          `complete -c ${NAME} -n '__fish_seen_subcommand_from ${name}' -a '${list.join(' ')}'`,
      ),
      '',
    ].join('\n'),
};

function cases(words: Words, toCase: (name: string, list: readonly string[]) => string): string {
  return Object.entries(words)
    .map(([name, list]) => toCase(name, list))
    .join('\n');
}
