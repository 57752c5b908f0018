// One running Claude Code process: its lines, its control requests, and a watch for hangs while it works.
import { type Clock, MAX_MESSAGE_BYTES, type Random, SwitchboardError } from '../../contract/index.ts'
import {
  createHangWatch,
  type EndHow,
  type KeptProcess,
  type ProcessEnd,
  type ProcessKeeper,
} from '../../kit/processes/index.ts'
import { type ClaudeEvent, type Fields, readEvent, requestLine } from './wire.ts'

export interface Child {
  readonly startedAt: number
  readonly ended: Promise<ProcessEnd>
  isAlive(): boolean
  write(text: string): Promise<void>
  /**
   * Sends a control request. Throws `agent_failed` when it is refused, when no answer comes in time, or when the
   * process has ended. Throws what `write` throws when it cannot be written.
   */
  ask(request: Fields, withinMs?: number): Promise<Fields>
  end(reason: string, how?: EndHow): Promise<ProcessEnd>
  stderr(): readonly string[]
}

export interface ChildLaunch {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly secrets: readonly string[]
  readonly hint: string
}

export interface ChildDeps {
  readonly keeper: Pick<ProcessKeeper, 'start'>
  readonly clock: Clock
  readonly random: Random
  readonly onEvent: (event: ClaudeEvent) => void
  /** Called for a line that is not a message or is too long. */
  readonly onNoise: () => void
  /** Whether it has work. An idle process may be silent for any time. */
  readonly isBusy: () => boolean
  /** After this long silence during work, the process is asked whether it is alive. */
  readonly silentMs: number
}

const ANSWER_MS = 30_000

/** Resolves when it answered a first request. Throws what the process keeper throws. */
export async function startChild(name: string, launch: ChildLaunch, deps: ChildDeps): Promise<Child> {
  const { clock } = deps
  const waiting = new Map<string, { resolve(body: Fields): void; reject(error: Error): void }>()
  let heard = () => {}

  const ask = async (process: KeptProcess, request: Fields, withinMs = ANSWER_MS): Promise<Fields> => {
    const id = deps.random.uuid()
    return new Promise<Fields>((resolve, reject) => {
      const cancel = clock.after(withinMs, () => {
        waiting.delete(id)
        reject(new SwitchboardError('agent_failed', `no answer to ${String(request.subtype)}`))
      })
      const settled =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          cancel()
          waiting.delete(id)
          then(value)
        }
      const asked = { resolve: settled(resolve), reject: settled(reject) }
      waiting.set(id, asked)
      process.write(requestLine(id, request)).catch(asked.reject)
    })
  }

  const read = (line: string) => {
    if (line.trim() === '') return
    const event = readEvent(line)
    if (event === null) return deps.onNoise()
    heard()
    if (event.kind !== 'response') return deps.onEvent(event)
    const asked = waiting.get(event.id)
    if (event.ok) asked?.resolve(event.body)
    else asked?.reject(new SwitchboardError('agent_failed', 'it refused a request'))
  }

  const process = await deps.keeper.start(name, launch, async (started) => {
    started.readLines(MAX_MESSAGE_BYTES, { line: read, tooLong: deps.onNoise })
    await ask(started, { subtype: 'initialize' })
  })
  const answerMs = Math.min(ANSWER_MS, deps.silentMs)
  const watch = createHangWatch({
    ...{ clock, silentMs: deps.silentMs, answerMs },
    // Any answer proves that it is alive, also a refusal. If the request cannot be sent, nothing is known.
    probe: () =>
      deps.isBusy()
        ? ask(process, { subtype: 'mcp_status' }, answerMs).catch((thrown: unknown) => {
            if (!(thrown instanceof SwitchboardError) || !/refused/.test(thrown.message)) throw thrown
          })
        : Promise.resolve(),
    hung: () => void process.end('it said nothing and did not answer', 'now'),
  })
  heard = watch.heard
  void process.ended.then(({ words }) => {
    watch.stop()
    for (const one of [...waiting.values()]) one.reject(new SwitchboardError('agent_failed', words))
  })
  return {
    startedAt: process.startedAt,
    ended: process.ended,
    isAlive: process.isAlive,
    write: process.write,
    ask: (request, withinMs) => ask(process, request, withinMs),
    end: process.end,
    stderr: process.stderr,
  }
}
