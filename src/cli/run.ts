// One command line from its words to its exit code. Nothing here ends the process: main.ts does.
import { type Command, CommanderError } from 'commander'
import { createContext, type GlobalOptions } from './context.ts'
import { describeFailure } from './failure.ts'
import { createPaint, wantsColour } from './output/colour.ts'
import { createProgram, parseFailure, usageLine } from './program.ts'
import type { Terminal } from './terminal.ts'

/** `words` are the arguments without node and script. Resolves to 0 ok, 1 failed, 2 usage or configuration. */
export async function run(words: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0
  const program = createProgram(
    async (load, command) => {
      const context = createContext(terminal, command.optsWithGlobals<GlobalOptions>())
      const code = await load()
      exitCode = await code(context, argumentsOf(command), command.optsWithGlobals<never>())
    },
    { out: (text) => void terminal.out(text), err: (text) => terminal.err(text) },
  )
  try {
    await program.parseAsync(words, { from: 'user' })
    return exitCode
  } catch (thrown) {
    const failure = thrown instanceof CommanderError ? parseFailure(thrown) : thrown
    if (failure === null) return (thrown as CommanderError).exitCode === 0 ? 0 : 2
    const told = describeFailure(failure, {
      ...errorStyle(words, terminal),
      usage: () => usageLine(program, words),
    })
    terminal.err(told.text)
    return told.exitCode
  }
}

function argumentsOf(command: Command): readonly string[] {
  return command.processedArgs.flat().filter((word): word is string => typeof word === 'string')
}

/** From the raw words, because the parser may be what failed. */
function errorStyle(words: readonly string[], terminal: Terminal) {
  const end = words.indexOf('--')
  const flags = end === -1 ? words : words.slice(0, end)
  const flag = flags.includes('--no-color') ? false : flags.includes('--color') ? true : undefined
  return {
    json: flags.includes('--json'),
    paint: createPaint(wantsColour({ flag, env: terminal.env, isTty: terminal.errorIsTty })),
  }
}
