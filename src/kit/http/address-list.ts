// Lists of addresses and networks in a configuration: 192.0.2.7, 10.0.0.0/8, 2001:db8::/32.
import { BlockList, isIP } from 'node:net'

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/**
 * Returns the address in the form of the lists: mapped IPv4 becomes IPv4, and a zone is removed. Null: not an address.
 */
export function bareAddress(written: string | undefined): string | null {
  const address = (written ?? '').trim().split('%', 1)[0] ?? ''
  const bare = MAPPED.exec(address)?.[1] ?? address
  return isIP(bare) > 0 ? bare : null
}

export function isNetwork(written: string): boolean {
  const [address = '', bits, ...rest] = written.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0 || MAPPED.test(address)) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

/**
 * Tests whether an address is in one of the networks. Invalid entries are skipped, because they were refused before.
 */
export function addressList(networks: readonly string[]): (address: string | null) => boolean {
  const list = new BlockList()
  for (const network of networks.filter(isNetwork)) {
    const [address = '', bits] = network.split('/')
    const family = familyOf(address)
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) => {
    const bare = address === null ? null : bareAddress(address)
    return bare !== null && list.check(bare, familyOf(bare))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
