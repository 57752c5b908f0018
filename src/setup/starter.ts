// The starter of a script: web chat, a signed webhook, and the agent that the flags name, tried before anything is written.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { stringify } from 'yaml'
import type { DataFolder } from '../config/instance/data-folder.ts'
import { type ConnectorModule, withoutNulls } from '../contract/index.ts'
import { oneLine } from '../runtime/safe-text.ts'
import { answerAgent, secretNames, writtenConnector } from './agent.ts'
import { refuseUnknown } from './answers.ts'
import type { Asker } from './asker.ts'
import { describedAs, flagsOf, openCatalog, refuseSlip } from './catalog.ts'
import { ownAddress } from './check-file.ts'
import { ID } from './definition.ts'
import { starterYaml } from './starter-files.ts'
import { usage } from './usage.ts'
import { demandFree, writeConfigFile, writeWhole } from './write-file.ts'

export interface StarterWish {
  readonly file: string
  /** A connector. Another name is the id of the demo agent. */
  readonly agent: string
  readonly hook: string
  /** Null: no port was chosen. */
  readonly port: number | null
  readonly force: boolean
  /** By name, without the dashes. */
  readonly flags: ReadonlyMap<string, string>
  /** Flags that the help names. Only some connectors ask for them. */
  readonly named: ReadonlyMap<string, string>
}

export interface WrittenStarter extends StarterAgent {
  /** The webhook's secret. */
  readonly secretFile: string
  /** It existed already. */
  readonly secretKept: boolean
}

interface StarterAgent {
  /** In one line of YAML, and the comment above it. Absent: the demo agent. */
  readonly connector?: { readonly yaml: string; readonly comment: string }
  /** Secrets that the agent needs too: each in a private file beside the configuration. */
  readonly files: readonly (Secret & { readonly path: string; readonly made: boolean })[]
  /** Secrets that are kept encrypted. */
  readonly kept: readonly (Secret & { readonly name: string })[]
  /** What is left to do elsewhere. */
  readonly paste: readonly string[]
  /** Fields for `--json`. */
  readonly jsonFields: Readonly<Record<string, unknown>>
}

interface Secret {
  readonly value: string
  readonly ask: string
}

/** Throws before anything is written, or with the file that cannot be written. */
export async function writeStarter(
  asker: Asker,
  folder: DataFolder,
  wish: StarterWish,
  keep: (secrets: ReadonlyMap<string, string>) => Promise<void>,
): Promise<WrittenStarter> {
  const { file, hook, force } = wish
  const agent = await answerStarterAgent(asker, folder, wish)
  if (agent.connector === undefined) demandId('id of the demo agent', wish.agent, 'demo')
  demandId('id of the webhook (/hooks/ID)', hook, 'alerts')
  if (hook === 'web') throw usage('--hook: "web" is the id of the chat page', 'choose another id')
  const secretFile = pathBeside(file, `${hook}.secret`)
  const text = starterYaml({ ...wish, ...agent, secretFile: `./${basename(secretFile)}` })
  let secretKept = false
  await writeConfigFile(folder, {
    path: file,
    text,
    before: null,
    force,
    async keep() {
      // A secret that exists is kept even with --force: its sender would be locked out.
      secretKept = !writePrivate(secretFile, randomBytes(32).toString('hex'))
      for (const { path, value } of agent.files) writePrivate(path, value)
      await keep(new Map(agent.kept.map(({ name, value }) => [name, value])))
    },
  })
  return { ...agent, secretFile, secretKept }
}

const writePrivate = (path: string, value: string) =>
  writeWhole(path, `${value}\n`, { replace: false, mode: 0o600 })

const pathBeside = (file: string, name: string) =>
  join(dirname(file), `${basename(file).replace(/\.ya?ml$/, '')}.${name}`)

function demandId(what: string, id: string, fallback: string): void {
  if (ID.test(id)) return
  throw usage(
    `${what}: "${id}" is not an id: letters, digits, "_", "-" and ".", starting with a letter or digit`,
    `leave it out for ${fallback}`,
  )
}

async function answerStarterAgent(
  asker: Asker,
  folder: DataFolder,
  wish: StarterWish,
): Promise<StarterAgent> {
  const { agent: id, file } = wish
  const { connectors } = await openCatalog(null)
  const named = connectors.get(id)
  if (named === undefined) refuseSlip(id, connectors, wish.named)
  const module = named?.first ? undefined : named
  const known = flagsOf(module)
  refuseUnknown(wish.flags, { known, hint: 'see what it takes with --help' })
  if (module === undefined) return { files: [], kept: [], paste: [], jsonFields: {} }
  demandFree(file, wish.force)
  const questions = module.setup?.questions ?? []
  const pathOf = (key: string) => pathBeside(file, `${id}.${key}`)
  // The agent needs such a secret too. One of an earlier run is taken again.
  const handed = questions.filter(({ fresh }) => fresh !== undefined).map(({ key }) => key)
  const before = handed.filter((key) => existsSync(pathOf(key)))
  const flags = new Map([...wish.named, ...wish.flags].filter(([flag]) => known.includes(flag)))
  const answered = await answerAgent(asker, module, {
    by: 'command',
    flags,
    known: new Map(before.map((key) => [key, readFileSync(pathOf(key), 'utf8').trim()])),
    folder: dirname(file),
    yes: true,
  })
  const names = secretNames(id, module, flags)
  const connector = writtenConnector(module, answered, (key) =>
    handed.includes(key) ? `file:./${basename(pathOf(key))}` : `secret:${names.get(key)}`,
  )
  const secrets = questions.flatMap(({ key, ask }) => {
    const value = answered.secrets.get(key)
    return value === undefined ? [] : [{ key, value, ask: oneLine(ask) }]
  })
  const files = secrets
    .filter(({ key }) => handed.includes(key))
    .map((secret) => ({ ...secret, path: pathOf(secret.key), made: answered.made.has(secret.key) }))
  const kept = secrets
    .filter(({ key }) => !handed.includes(key))
    .map((secret) => ({ ...secret, name: names.get(secret.key) ?? secret.key }))
  const asksForSecret = questions.some(({ key, secret }) => secret && !handed.includes(key))
  return {
    connector: { yaml: inOneLine(connector), comment: commentOf(module) },
    files,
    kept,
    paste: module.setup?.paste?.({ id, base: await ownAddress(folder, null), options: connector }) ?? [],
    jsonFields: {
      ...(files[0] ? { agent_secret_file: files[0].path } : {}),
      ...(asksForSecret ? { agent_secret: kept[0]?.name ?? null } : {}),
      ...withoutNulls({ who: answered.who }),
    },
  }
}

const inOneLine = (connector: object) =>
  stringify(connector, { collectionStyle: 'flow', lineWidth: 0 }).trim()

const commentOf = ({ name, options, docs }: ConnectorModule) =>
  `${oneLine(describedAs(options) || name)} See ${oneLine(docs)}`
