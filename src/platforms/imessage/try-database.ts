// Whether chat.db can be read, before anything is stored and without an integration.
import { type Options, SwitchboardError } from '../../contract/index.ts'
import { openChatDb } from './chat-db.ts'
import { readConfig } from './config.ts'

/** Throws what is missing, with the settings pane to open. */
export async function tryDatabase(
  options: Options,
  system: string = process.platform,
): Promise<{ readonly who: string }> {
  if (system !== 'darwin')
    throw new SwitchboardError(
      'config_invalid',
      `imessage needs macOS with Messages; this system is ${system}`,
    )
  const config = readConfig({ id: 'try', options })
  const db = openChatDb(config.dbPath)
  try {
    return { who: `${[...config.own][0] ?? 'Messages'}, chat.db up to message ${db.last()}` }
  } finally {
    db.close()
  }
}
