// What `switchboard up` says once it is ready: where to talk to it, what is up and what is not, and how to stop it.
import type { IntegrationView } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context } from '../../context.ts'
import { paintState } from '../../output/colour.ts'
import { oneLine } from '../../output/text.ts'

export interface Announced {
  readonly url: string
  readonly chatLink: string | null
  readonly takenPort: number | null
  readonly integrations: readonly IntegrationView[]
}

export interface AnnouncedPlace {
  readonly dataDir: string
  readonly configFile: string | null
  readonly pid: number
  /** How it is stopped. */
  readonly stop: string
}

export async function announce(context: Context, daemon: Announced, place: AnnouncedPlace): Promise<void> {
  if (context.json) {
    return void (await context.printJson({
      ready: true,
      url: daemon.url,
      chat_link: daemon.chatLink,
      data: place.dataDir,
      config: place.configFile,
      pid: place.pid,
    }))
  }
  const { paint } = context
  const words = wordsIn().daemonCommands.up
  const { labels } = words
  const rows: (readonly [string, string])[] = [
    ...(daemon.chatLink === null ? [] : [[labels.chat, paint.cyan(daemon.chatLink)] as const]),
    ...(place.configFile === null ? demoHook(daemon.url) : []),
    [labels.config, place.configFile ?? words.embedded],
    [labels.data, place.dataDir],
    ...(daemon.takenPort
      ? [[labels.port, paint.yellow(words.portTaken({ port: daemon.takenPort }))] as const]
      : []),
    [labels.stop, place.stop],
  ]
  const lines = rows.map(([name, value]) => `  ${paint.dim(name.padEnd(7))} ${value}`)
  await context.print(
    [
      `${paint.green('●')} ${words.isUp({ url: daemon.url, mark: paint.bold })}`,
      '',
      ...lines,
      ...integrationLines(context, daemon.integrations),
      '',
    ].join('\n'),
  )
}

/** A long list is the business of `status`. */
const MOST_LINES = 20

function integrationLines(context: Context, all: readonly IntegrationView[]): readonly string[] {
  if (all.length === 0) return []
  const { paint } = context
  const shown = all.slice(0, MOST_LINES)
  const wide = (value: (one: IntegrationView) => string) =>
    Math.min(24, Math.max(...shown.map((one) => oneLine(value(one)).length)))
  const [idWidth, platformWidth] = [wide(({ id }) => id), wide(({ platform }) => platform)]
  const lines = shown.map((one) => {
    const state = one.enabled ? oneLine(one.link) : 'disabled'
    const reach = [one.reach ?? '', one.detail === undefined ? '' : `(${one.detail})`].filter(
      (word) => word !== '',
    )
    const cells = [
      oneLine(one.id).padEnd(idWidth),
      paint.dim(oneLine(one.platform).padEnd(platformWidth)),
      `${paintState(paint, state)}${' '.repeat(Math.max(0, 11 - state.length))}`,
      reach.map(oneLine).join(' '),
    ]
    return `  ${cells.join('  ')}`.trimEnd()
  })
  const more = all.length - shown.length
  return ['', ...lines, ...(more > 0 ? [`  ${wordsIn().daemonCommands.up.more({ count: more })}`] : [])]
}

/** The embedded default's webhook, ready to copy. A file of one's own says for itself what it needs. */
function demoHook(url: string): (readonly [string, string])[] {
  const { labels } = wordsIn().daemonCommands.up
  return [
    [labels.listen, `curl -N -H 'X-Sender: dev' ${url}/hooks/demo/events`],
    [labels.say, `curl -H 'X-Sender: dev' -d 'hello' ${url}/hooks/demo`],
  ]
}
