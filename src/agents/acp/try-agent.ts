// Starts an ACP agent briefly for the set-up: does it run, does it speak the protocol, its name, and whether it wants a
// sign-in.
import {
  type Clock,
  defined,
  MAX_MESSAGE_BYTES,
  type Options,
  SwitchboardError,
} from '../../contract/index.ts'
import { folderProblem, tryProcess } from '../../kit/processes/index.ts'
import { isAuthRequired, openLink } from './agent-link.ts'
import { acpOptions } from './config.ts'
import { lineStream } from './line-stream.ts'
import { NOBODY_CHOSE } from './permission.ts'

const WITHIN_MS = 15_000
const LAST_WORDS_MS = 1_000

/** Throws the problem. An agent that wants a sign-in is present, and the result says so. */
export async function tryAgent(
  options: Options,
  deps: { readonly clock: Clock; readonly environment?: Readonly<Record<string, string>> },
): Promise<{ who: string }> {
  const { command, args, env, cwd } = acpOptions.parse(options)
  const problem = cwd === undefined ? null : folderProblem(cwd)
  if (problem !== null) throw new SwitchboardError('config_invalid', problem)
  const launch = {
    ...{ command, args, env: { ...deps.environment, ...env } },
    ...defined({ cwd }),
    hint: 'Install it, or write its whole path.',
  }
  return tryProcess(
    launch,
    async ({ input, output, ended }, folder) => {
      const stream = lineStream(
        { stdin: input, stdout: output },
        { maxLineBytes: MAX_MESSAGE_BYTES, onNoise: () => undefined },
      )
      const handlers = {
        onUpdate: () => undefined,
        onPermission: async () => NOBODY_CHOSE,
        capabilities: {},
        methods: {},
      }
      const gone = ended.then(({ words }): never => {
        throw new SwitchboardError('agent_absent', `it did not answer: ${words}`)
      })
      const opened = openLink(stream, handlers, { clock: deps.clock, withinMs: WITHIN_MS, version: '0.1.0' })
      // A program that ends closes its output first. Its last words are worth a short wait.
      const link = await Promise.race([opened, gone]).catch((thrown) =>
        Promise.race([gone, after(deps.clock, LAST_WORDS_MS, thrown)]),
      )
      const { name, version } = link.facts
      const who = version === null ? name : `${name} ${version}`
      const isSignedIn = await link.newSession({ cwd: folder ?? '/', mcpServers: [] }).then(
        () => true,
        (thrown) => !isAuthRequired(thrown),
      )
      return { who: isSignedIn ? who : `${who}, not signed in yet` }
    },
    deps,
  )
}

function after(clock: Clock, delayMs: number, thrown: unknown): Promise<never> {
  return new Promise((_resolve, reject) => void clock.after(delayMs, () => reject(thrown)))
}
