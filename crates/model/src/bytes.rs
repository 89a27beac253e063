//! Numbers and texts as bytes, so that states can travel between processes.
//!
//! Numbers take seven bits to a byte, the lowest first; each byte but the last has its highest bit set. Each number has one
//! encoding only: one that is longer than it need be is not read. Whatever is read, nothing panics, and no more memory is
//! taken than the bytes have.

/// Appends a number.
pub fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front.
pub fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if (part << shift) >> shift != part || (byte == 0 && shift > 0) {
            return None;
        }
        number |= part << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Appends a number with a sign: small ones are short, whatever their sign.
pub fn write_signed(number: i64, out: &mut Vec<u8>) {
    write_number(folded(number), out);
}

/// Takes a number with a sign from the front.
pub fn read_signed(bytes: &mut &[u8]) -> Option<i64> {
    read_number(bytes).map(unfolded)
}

/// 0, -1, 1, -2, 2 and so on as 0, 1, 2, 3, 4.
pub fn folded(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// The other way round.
pub fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Appends a text.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    write_number(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// Takes a text from the front.
pub fn read_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let length = usize::try_from(read_number(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_small_ones_are_short() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            assert_eq!(bytes.len(), (64 - number.leading_zeros() as usize).div_ceil(7).max(1));
            assert_eq!(read_number(&mut &bytes[..]), Some(number));
            assert_eq!(read_number(&mut &bytes[..bytes.len() - 1]), None);
        }
        for number in [0, 1, -1, 63, -64, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            write_signed(number, &mut bytes);
            assert_eq!(read_signed(&mut &bytes[..]), Some(number));
        }
    }

    #[test]
    fn a_number_has_one_encoding() {
        for bytes in [&[0x80, 0][..], &[0xff, 0x80, 0], &[0xff; 10], &[0xff; 20], &[]] {
            assert_eq!(read_number(&mut &bytes[..]), None, "{bytes:?}");
        }
        let last = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        assert_eq!(read_number(&mut &last[..]), None);
    }

    #[test]
    fn texts_come_back_and_lengths_are_not_trusted() {
        let mut bytes = Vec::new();
        write_text("x=1", &mut bytes);
        assert_eq!(read_text(&mut &bytes[..]), Some("x=1"));
        assert_eq!(read_text(&mut &[0xff, 0xff, 0xff, 0xff, 0xff, 1, 65][..]), None);
        assert_eq!(read_text(&mut &[2, 0xff, 0xfe][..]), None);
    }
}
