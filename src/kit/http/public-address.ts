// Decides which IP addresses a foreign URL may reach. The guarded fetch uses it.
import { BlockList, isIP, isIPv4 } from 'node:net'
import { createBoundedMap } from '../../contract/index.ts'

/** Always refused: link-local (cloud metadata), multicast, reserved. */
const never = new BlockList()
/** Allowed only with `allowPrivate`: this machine and its networks. */
const own = new BlockList()
/** Global unicast IPv6. All other ranges have special uses. */
const global6 = new BlockList()

for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  never.addSubnet(net, bits, 'ipv4')
}
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
] as const) {
  own.addSubnet(net, bits, 'ipv4')
}
own.addAddress('::1', 'ipv6')
own.addSubnet('fc00::', 7, 'ipv6')
global6.addSubnet('2000::', 3, 'ipv6')
// Inside global unicast: protocol assignments and Teredo, 6to4 (both carry an IPv4 address), documentation.
never.addSubnet('2001::', 23, 'ipv6')
never.addSubnet('2001:db8::', 32, 'ipv6')
never.addSubnet('2002::', 16, 'ipv6')
never.addSubnet('3fff::', 20, 'ipv6')
// The metadata service of AWS, which is inside the private range.
never.addAddress('fd00:ec2::254', 'ipv6')

/** Verdicts are cached, because they never change and the lists are the slowest check of a request. */
const REMEMBERED = 1_000
const LONGEST_ADDRESS = 64
const judged = {
  open: createBoundedMap<string, boolean>(REMEMBERED),
  guarded: createBoundedMap<string, boolean>(REMEMBERED),
}

/** Whether a fetch may connect to this address. A text that is not an address is refused. */
export function mayConnect(address: string, allowPrivate: boolean): boolean {
  const known = allowPrivate ? judged.open : judged.guarded
  const verdict = known.get(address) ?? judge(address, allowPrivate)
  if (address.length <= LONGEST_ADDRESS && !known.has(address)) known.set(address, verdict)
  return verdict
}

function judge(address: string, allowPrivate: boolean): boolean {
  const plain = address.split('%')[0] ?? ''
  if (isIP(plain) === 0) return false
  const mapped = mappedIPv4(plain)
  if (mapped !== null) return judge(mapped, allowPrivate)
  if (isIPv4(plain)) return !never.check(plain, 'ipv4') && (allowPrivate || !own.check(plain, 'ipv4'))
  if (never.check(plain, 'ipv6')) return false
  return global6.check(plain, 'ipv6') || (allowPrivate && own.check(plain, 'ipv6'))
}

/** `::ffff:7f00:1` and `::ffff:127.0.0.1` reach the IPv4 address inside, so that address is judged. */
function mappedIPv4(address: string): string | null {
  const dotted = /^(?:0*:)*ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (dotted?.[1] !== undefined) return dotted[1]
  const hex = /^(?:0*:)*ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address)
  if (hex === null) return null
  const high = Number.parseInt(hex[1] ?? '0', 16)
  const low = Number.parseInt(hex[2] ?? '0', 16)
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}
