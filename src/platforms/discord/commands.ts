// The slash commands of the bot, registered where they are missing or differ and left alone where they do not. Commands that
// somebody else registered for the same application stay.
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

/** `ask` is for where the bot does not read what is written. */
export function commandsOf({ message_content }: Pick<DiscordOptions, 'message_content'>): readonly Command[] {
  return message_content ? COMMANDS : [...COMMANDS, ASK]
}

/** How many were written. Throws as the client does. */
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
    // By its name it takes the place of the one that was there.
    await client.call('POST', path, { body: { type: 1, ...command }, repeatable: true })
    written += 1
  }
  // Ours, and no longer wanted.
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

/** What is compared: Discord adds fields of its own, and leaves out what is empty or false. */
function digestOf({ name, description, options }: DiscordAnswer | Command): string {
  const list = Array.isArray(options) ? (options as readonly Readonly<Record<string, unknown>>[]) : []
  const told = list.map((one) => [one.type, one.name, one.description, one.required === true])
  return createHash('sha256')
    .update(JSON.stringify([name, description, told]))
    .digest('hex')
}
