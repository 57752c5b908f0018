// The channel servers that this daemon hosts. The pool is created when the first one is configured, and only servers
// that an agent uses are started.
import { type Cancel, CHANNEL_PLATFORM, type ChannelServers, type Settings } from '../contract/index.ts'

export interface HostedServers {
  pool(): ChannelServers | undefined
  /**
   * Connects new servers and ends removed ones. Pushed messages wait until the result is called, because they carry no
   * acknowledgement and their listener may not exist yet.
   */
  apply(settings: Settings): Promise<Cancel>
  stop(): Promise<void>
}

const NOTHING: Cancel = () => undefined

export function createHostedServers(load: (() => Promise<ChannelServers>) | undefined): HostedServers {
  let pool: ChannelServers | undefined
  return {
    pool: () => pool,
    async apply({ mcpServers, integrations }) {
      const heard = new Set(
        integrations.map((one) => (one.platform === CHANNEL_PLATFORM ? one.options.server : null)),
      )
      const wanted = mcpServers.filter((server) => heard.has(server.name))
      if (!load || (wanted.length === 0 && !pool)) return NOTHING
      pool ??= await load()
      // A server may end slowly. The remaining ones continue meanwhile, and its last messages have listeners.
      const release = pool.hold('newcomers')
      try {
        await pool.apply(wanted)
        const releaseAll = pool.hold()
        return () => {
          releaseAll()
          release()
        }
      } catch (thrown) {
        release()
        throw thrown
      }
    },
    async stop() {
      await pool?.stop()
    },
  }
}
