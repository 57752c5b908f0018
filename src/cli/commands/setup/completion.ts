// `switchboard completion SHELL`: a script for bash, zsh or fish, made from the table of commands itself.
import type { Command } from 'commander'
import type { Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { oneLine } from '../../output/text.ts'
import { createProgram } from '../../program.ts'

const NAMES = ['switchboard', 'swb']

interface Place {
  /** The commands before it: '' or ' agents add'. */
  readonly at: string
  readonly words: readonly { readonly word: string; readonly says: string }[]
}

export const completion: Run = async (context, [shell = '']) => {
  const scripts: Readonly<Record<string, (places: readonly Place[]) => string>> = { bash, zsh, fish }
  if (!Object.hasOwn(scripts, shell))
    throw usage(
      `there is no completion for "${oneLine(shell)}"`,
      `one of: ${Object.keys(scripts).join(', ')}`,
    )
  const program = createProgram(async () => undefined, { out: () => undefined, err: () => undefined })
  await context.print((scripts[shell]?.(placesOf(program, '')) ?? '').trimEnd())
  return 0
}

/** Every command with the words that may follow it: its verbs, its options, and the global options. */
function placesOf(command: Command, at: string, above: Place['words'] = []): readonly Place[] {
  const options = command.options
    .filter((one) => !one.hidden && one.long !== undefined)
    .map((one) => ({ word: one.long ?? '', says: one.description }))
  const verbs = command.commands.map((one) => ({ word: one.name(), says: one.description() }))
  const known = new Set(options.map(({ word }) => word))
  const all = [...verbs, ...options, ...above.filter(({ word }) => !known.has(word))]
  const inner = command.commands.flatMap((one) =>
    placesOf(one, `${at} ${one.name()}`, [...options, ...above.filter(({ word }) => !known.has(word))]),
  )
  return [{ at, words: all }, ...inner]
}

/** Where a verb may follow, a file may not. After an option it may. */
const hasVerbs = ({ words }: Place) => words.some(({ word }) => !word.startsWith('-'))
const wordsOf = ({ words }: Place) => words.map(({ word }) => word).join(' ')
const paths = (places: readonly Place[]) =>
  places.flatMap(({ at }) => (at === '' ? [] : [`"${at}"`])).join('|')

function bash(places: readonly Place[]): string {
  return `# bash: switchboard completion bash > ~/.local/share/bash-completion/completions/switchboard
_switchboard() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$at $word" in
      ${paths(places)}) at="$at $word" ;;
    esac
  done
  case "$at" in
${places.map((one) => `    "${one.at}") COMPREPLY=($(compgen -W "${wordsOf(one)}" -- "$cur")) ;;`).join('\n')}
  esac
}
complete -o default -F _switchboard ${NAMES.join(' ')}
`
}

function zsh(places: readonly Place[]): string {
  return `#compdef ${NAMES.join(' ')}
# zsh: switchboard completion zsh > a file _switchboard in a folder of your $fpath
_switchboard() {
  local at="" word i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "$at $word" in
      ${paths(places)}) at="$at $word" ;;
    esac
  done
  local before="\${words[CURRENT-1]}"
  case "$at" in
${places.map((one) => `    "${one.at}") compadd -- ${wordsOf(one)}${hasVerbs(one) ? '; [[ $before == -* ]] || return 0' : ''} ;;`).join('\n')}
  esac
  _files
}
compdef _switchboard ${NAMES.join(' ')}
`
}

function fish(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`
  const lines = NAMES.flatMap((name) =>
    places.flatMap((place) => {
      const test =
        place.at === '' ? `test (__switchboard_at) = ''` : `test (__switchboard_at) = ${quoted(place.at)}`
      const noFiles = quoted(`${test}; and not string match -q -- '-*' (commandline -opc)[-1]`)
      const lone = hasVerbs(place) ? [`complete -c ${name} -n ${noFiles} -f`] : []
      const words = place.words.map(({ word, says }) => {
        const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
        return `complete -c ${name} -n ${quoted(test)} ${what} -d ${quoted(oneLine(says))}`
      })
      return [...lone, ...words]
    }),
  )
  return `# fish: switchboard completion fish > ~/.config/fish/completions/switchboard.fish
function __switchboard_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${places.flatMap(({ at }) => (at === '' ? [] : [quoted(at)])).join(' ')}
        set at "$at $word"
    end
  end
  echo "$at"
end
${lines.join('\n')}
`
}
