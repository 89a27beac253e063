//! SHA-256 (FIPS 180-4), by which witnesses name the files that they are about.

/// The first 32 bits of the fractional parts of the cube roots (`root` 3) or square roots (`root` 2) of the first primes.
fn fractions<const COUNT: usize>(root: u32) -> [u32; COUNT] {
    let mut found = [0; COUNT];
    let mut primes =
        (2u128..).filter(|&number| (2..number).take_while(|d| d * d <= number).all(|d| number % d != 0));
    for slot in &mut found {
        // The greatest number whose power is at most the prime times two to the 32, to that power.
        let scaled = primes.next().unwrap_or_default() << (32 * root);
        let (mut low, mut high) = (0u128, 1 << 40);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if middle.pow(root) <= scaled { low = middle } else { high = middle }
        }
        *slot = low as u32;
    }
    found
}

/// The digest of a text.
pub fn digest(text: &[u8]) -> [u8; 32] {
    let constants: [u32; 64] = fractions(3);
    let mut state: [u32; 8] = fractions(2);
    let mut padded = text.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - text.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(8 * text.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut words = [0u32; 64];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
        }
        for at in 16..64 {
            let (near, far) = (words[at - 15], words[at - 2]);
            let near = near.rotate_right(7) ^ near.rotate_right(18) ^ near >> 3;
            let far = far.rotate_right(17) ^ far.rotate_right(19) ^ far >> 10;
            words[at] = words[at - 16].wrapping_add(near).wrapping_add(words[at - 7]).wrapping_add(far);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (constant, word) in constants.iter().zip(words) {
            let mixed = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let chosen = e & f ^ !e & g;
            let first = h.wrapping_add(mixed).wrapping_add(chosen).wrapping_add(*constant).wrapping_add(word);
            let mixed = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let second = mixed.wrapping_add(a & b ^ a & c ^ b & c);
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
        }
        for (slot, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *slot = slot.wrapping_add(word);
        }
    }
    let mut bytes = [0; 32];
    for (part, word) in bytes.chunks_exact_mut(4).zip(state) {
        part.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

/// The digest in hexadecimal digits.
pub fn hexadecimal(text: &[u8]) -> String {
    digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::hexadecimal;

    #[test]
    fn published_digests_are_right() {
        assert_eq!(hexadecimal(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(hexadecimal(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hexadecimal(long), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
}
