// The bot's slash commands. They are registered if they are missing or different. Commands of other programs of the
// same application stay.
import { createHash } from 'node:crypto'
import { wordsIn } from '../../words/index.ts'
import type { DiscordAnswer, DiscordClient } from './api/client.ts'
import type { DiscordOptions } from './config.ts'

interface Command {
  readonly name: string
  readonly description: string
  readonly options: readonly Readonly<Record<string, unknown>>[]
}

const TEXT_OPTION = 3
const words = wordsIn().platforms.discord.commands
const COMMANDS: readonly Command[] = [
  { name: 'new', description: words.new, options: [] },
  { name: 'stop', description: words.stop, options: [] },
  { name: 'status', description: words.status, options: [] },
  { name: 'help', description: words.help, options: [] },
]
const ASK: Command = {
  name: 'ask',
  description: words.ask,
  options: [{ type: TEXT_OPTION, name: 'text', description: words.askText, required: false }],
}

/** `ask` is for bots that cannot read messages. */
export function commandsOf({ message_content }: Pick<DiscordOptions, 'message_content'>): readonly Command[] {
  return message_content ? COMMANDS : [...COMMANDS, ASK]
}

/** Returns how many were written. Throws as the client does. */
export async function registerCommands(
  client: DiscordClient,
  appId: string,
  wanted: readonly Command[],
): Promise<number> {
  const path = `/applications/${appId}/commands`
  const there = await client.list(path)
  let written = 0
  for (const command of wanted) {
    const same = there.find((one) => one.name === command.name && (one.type ?? 1) === 1)
    if (same !== undefined && digestOf(same) === digestOf(command)) continue
    // A command of the same name is replaced.
    await client.call('POST', path, { body: { type: 1, ...command }, repeatable: true })
    written += 1
  }
  // Our own commands that are no longer wanted.
  const stale = there.filter(
    (one) =>
      digestOf(one) === digestOf(ASK) &&
      one.name === ASK.name &&
      !wanted.some(({ name }) => name === ASK.name),
  )
  for (const { id } of stale) {
    await client.call('DELETE', `${path}/${String(id)}`, { repeatable: true })
    written += 1
  }
  return written
}

/** The compared fields. Discord adds others, and leaves out empty ones. */
function digestOf({ name, description, options }: DiscordAnswer | Command): string {
  const list = Array.isArray(options) ? (options as readonly Readonly<Record<string, unknown>>[]) : []
  const told = list.map((one) => [one.type, one.name, one.description, one.required === true])
  return createHash('sha256')
    .update(JSON.stringify([name, description, told]))
    .digest('hex')
}
