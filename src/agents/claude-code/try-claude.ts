// Tries Claude Code for the set-up: is it installed, which version, and is it signed in. It sends one command that the
// program answers itself, and calls no model.
import {
  type Clock,
  MAX_MESSAGE_BYTES,
  type Options,
  type SetupTrial,
  SwitchboardError,
} from '../../contract/index.ts'
import { type KeptProcess, tryProcess } from '../../kit/processes/index.ts'
import { findClaude } from './find-claude.ts'
import { isFields, readEvent, requestLine, textOf } from './wire.ts'

const ANSWER_MS = 15_000

/** Throws `agent_absent` with a hint. */
export async function tryClaude(options: Options, deps: SetupTrial): Promise<{ readonly who: string }> {
  const command = textOf(options.command) ?? 'claude'
  const listed = isFields(options.env)
    ? Object.entries(options.env).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    : []
  const env = { ...deps.environment, ...Object.fromEntries(listed) }
  const version = await findClaude(command, env)
  const account = await accountOf(command, env, deps.clock)
  const by = [account.tokenSource, account.apiKeySource]
    .map(textOf)
    .find((one) => one !== null && one !== 'none')
  const signed = by === undefined ? 'not signed in: run `claude` and /login' : 'signed in'
  return { who: `Claude Code ${version}, ${signed}` }
}

function accountOf(
  command: string,
  env: Readonly<Record<string, string>>,
  clock: Clock,
): Promise<Readonly<Record<string, unknown>>> {
  const args = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
  const ask = (process: KeptProcess) =>
    new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
      const over = (why: string) => reject(new SwitchboardError('agent_absent', `"${command}": ${why}`))
      const cancel = clock.after(ANSWER_MS, () => over(`no answer within ${ANSWER_MS / 1_000} s`))
      void process.ended.then(({ words }) => {
        cancel()
        over(words)
      })
      process.readLines(MAX_MESSAGE_BYTES, {
        line(text) {
          const event = readEvent(text)
          if (event?.kind === 'response') resolve(isFields(event.body.account) ? event.body.account : {})
        },
        tooLong: () => undefined,
      })
      process.write(requestLine('try', { subtype: 'initialize' })).catch(() => undefined)
    })
  return tryProcess({ command, args, env }, ask, { clock })
}
