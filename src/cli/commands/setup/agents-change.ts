// `switchboard agents set|remove`, and `agents add --write`: changes the lines of an agent in switchboard.yaml and keeps the
// rest. The file is checked before it is written. A running daemon reads it again.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { editFile, type FileEdit } from '../../../config/yaml/edit-file.ts'
import { editsToAddAgent, type Holder } from '../../../setup/config-file.ts'
import { type Definition, readValue } from '../../../setup/definition.ts'
import { writeConfigFile } from '../../../setup/write-file.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { oneLine } from '../../output/text.ts'

export const setAgent: Run = async (context, [id = '', ...pairs]) => {
  if (pairs.length === 0)
    throw usage('nothing to set', 'write e.g. switchboard agents set kate notify_on=failure')
  const edits = pairs.map((pair): FileEdit => {
    const cut = pair.indexOf('=')
    if (cut < 1) throw usage(`"${oneLine(pair)}" is not key=value`, 'key= alone takes the key away')
    const path = pair.slice(0, cut).split('.')
    if (path[0] === 'id')
      throw usage('an id is not changed: sessions belong to it', 'add another agent instead')
    const written = pair.slice(cut + 1)
    return { kind: 'set', id, path, value: written === '' ? undefined : readValue(written) }
  })
  return change(context, edits, { id, what: wordsIn().setupCommands.agents.changed })
}

export const removeAgent: Run = (context, [id = '']) =>
  change(context, [{ kind: 'remove', id }], { id, what: wordsIn().setupCommands.agents.removed })

/** Adds the agent to the file. The demo agent gives its integration away, and a demo agent without other use is removed. */
export async function addToFile(
  context: Context,
  agent: Definition & { readonly id: string },
  integration: string,
  more: Pick<Change, 'keep' | 'jsonFields'>,
): Promise<number> {
  const text = readFileSync(fileOf(context).file, 'utf8')
  const { edits, demo } = editsToAddAgent(text, agent, integration)
  return change(context, edits, { ...more, id: agent.id, what: addedText(demo, oneLine(integration)) })
}

function addedText(demo: Holder | null, integration: string): string {
  const { added, addedFor, addedInstead } = wordsIn().setupCommands.agents
  if (demo === null) return added
  return (demo.isLastUse ? addedInstead : addedFor)({ integration, demo: oneLine(demo.id) })
}

function fileOf(context: Context): { readonly named: string; readonly file: string } {
  const named = context.configFile()
  if (named === null)
    throw usage(
      'there is no switchboard.yaml to change',
      'switchboard init writes one, --config names another',
    )
  return { named, file: realpathSync(named) }
}

/** Whether the file refers to the secret. Then it must not be replaced. */
export function refersTo(context: Context, secret: string): boolean {
  return readFileSync(fileOf(context).file, 'utf8').includes(`secret:${secret}`)
}

interface Change {
  readonly id: string
  readonly what: string
  /** Keeps the secrets that the new text refers to. */
  readonly keep?: () => Promise<void>
  /** Fields for `--json`. */
  readonly jsonFields?: Readonly<Record<string, string>>
}

/** Writes the file anew, or throws what would be wrong with it. */
async function change(context: Context, edits: readonly FileEdit[], done: Change): Promise<number> {
  const { named, file } = fileOf(context)
  const before = readFileSync(file, 'utf8')
  const keep = done.keep ?? (async () => undefined)
  await writeConfigFile(context.folder, { path: file, text: editFile(before, edits), before, keep })
  const elsewhere = await readElsewhere(context, file)
  if (context.json)
    await context.printJson({
      ok: true,
      agent: done.id,
      file,
      ...(elsewhere ? { daemon_reads: elsewhere } : {}),
      ...done.jsonFields,
    })
  else await context.print(`${oneLine(done.id)} ${done.what} (${oneLine(named)})`)
  if (elsewhere)
    context.note(
      context.paint.yellow(wordsIn().setupCommands.agents.readsElsewhere({ file: oneLine(elsewhere) })),
    )
  return 0
}

/** What the running daemon reads instead of this file. Null: it reads this one, or none runs. */
async function readElsewhere(context: Context, file: string): Promise<string | null> {
  const daemon = await context.daemon().catch(() => null)
  if (daemon === null) return null
  const { config } = await daemon.ask('GET /api/status')
  if (config.file === null) return wordsIn().setupCommands.agents.embedded
  const read = existsSync(config.file) ? realpathSync(config.file) : config.file
  return read === file ? null : read
}
