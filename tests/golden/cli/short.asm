# Ninety-eight additions of one repeat each, three hundred times.
loop 300
  loop i 98
    V vadd elements=128 type=f16 src=ub:256*i src2=ub:65536 dst=ub:256*i
  end
end
