// The channel servers that this daemon hosts: the pool is made when the first one is configured, and only those that an
// agent mentions are started.
import { type Cancel, CHANNEL_PLATFORM, type ChannelServers, type Settings } from '../contract/index.ts'

export interface HostedServers {
  pool(): ChannelServers | undefined
  /**
   * Connects what is new, ends what is gone. What servers push waits until the result is called: it carries no
   * acknowledgement, and whoever listens may not be there yet.
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
      // One that ends may take its time: those that stay go on meanwhile, and its own last words have their listeners.
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
